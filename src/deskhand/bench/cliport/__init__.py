"""The tasks of CLIPort learnt from one demonstration: rows with, without, told and with a wrong one; and what videos are understood as."""
