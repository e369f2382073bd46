"""The same worlds in Gazebo Harmonic: world file, arm and bridge from a WorldSpec, and the truth from Gazebo's own poses (docs/gazebo.md)."""
