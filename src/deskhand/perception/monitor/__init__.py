"""What changes before a camera from picture to picture; cheap enough to run with every one."""
