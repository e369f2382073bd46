"""Whether the machines of a cluster can run a campaign, and what a case costs beyond its own work."""
