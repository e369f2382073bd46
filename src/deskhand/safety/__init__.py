"""The envelope for all motion, the latched stop, the watchdog, the audit log."""
