"""What `deskhand arms check` measures and draws."""
