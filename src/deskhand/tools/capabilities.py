"""What a robot at a desk can mostly be asked for: tools are looked up by these words for every task, beside those of its instruction."""

CAPABILITIES = (
    "look at the desk and detect objects",
    "pick up an object",
    "put the held object into a container",
    "place the held object on top of another object",
    "put the held object down at a position",
    "put the held object down next to another one",
    "free the gripper, put what it holds aside",
    "push objects that lie side by side apart",
    "look from where more is seen",
    "plan a structure of blocks",
    "check whether a goal is reached",
    "state of the robot and gripper",
    "move the arm home",
    "open or close the gripper",
    "stop all motion",
    "answer a question about the past",
    "find remembered objects of the last look",
)
