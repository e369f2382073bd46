"""What each object lies on, in or against."""
