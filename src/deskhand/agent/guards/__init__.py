"""Guards of a run: each is a toolset round another and looks at one object."""
