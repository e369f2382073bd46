"""The operator page: a page in the browser that shows the robot and takes the operator's word.

What is shown at one time is a :class:`deskhand.view.moment.Moment`. Two sources give moments: ``live.py`` from what the nodes say, ``replay.py`` from
a recorded episode. ``page.py`` draws them (``desk.py``: the 3-D view, ``panels.py``: the rest) with viser; ``nodes/view_node.py`` ties it to ROS.
"""
