"""LIBERO, LIBERO-PRO and robosuite's own tasks, measured with the whole stack on a foreign robot."""
