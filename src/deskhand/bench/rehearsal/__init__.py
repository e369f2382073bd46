"""A first day without hardware: an arm whose errors nobody told, and a person whose answers come from where everything really is."""
