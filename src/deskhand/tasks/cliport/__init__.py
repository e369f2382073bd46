"""Tasks of CLIPort (Shridhar et al. 2021) as Robotics Toolformer uses them: what has to be done is shown by one demonstration in another scene."""
