"""Arms: configuration, the driver base, one file a vendor."""
