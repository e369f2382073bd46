"""Tools over the Model Context Protocol: ours served to any client, those of any server mounted beside ours."""
