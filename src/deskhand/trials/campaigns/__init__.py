"""Campaigns: many cases of one measurement, run here, in shards or on a cluster, written down as they end, joined and compared."""
