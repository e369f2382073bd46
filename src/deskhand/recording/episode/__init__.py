"""The record of a task: ``episode.mcap``, ``audit.jsonl``, ``result.json``, ``report.html`` in one folder.

``episode.mcap`` is a plain ROS 2 recording (CDR messages with their definitions inside), so Foxglove and rosbag2 open it; no ROS is needed
to write or read it here. Every message is handed to the operating system at once, but joints and transforms, of which half a second goes
together: a recorder that is killed leaves all but those and the message in flight, and
:func:`deskhand.recording.episode.reader.read_episode` (or ``mcap recover``) reads such a file.
"""
