"""Definitions of the ROS messages in an episode, as MCAP wants them: the message, then all that it contains."""

from __future__ import annotations

_LINE = "\n" + "=" * 80 + "\n"
_TIME = "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec"
_HEADER = "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id"
_ROI = "MSG: sensor_msgs/RegionOfInterest\nuint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify"
_GEOMETRY = (
    "MSG: geometry_msgs/TransformStamped\nstd_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform",
    "MSG: geometry_msgs/Transform\ngeometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation",
    "MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z",
    "MSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w",
)

STRING = "std_msgs/msg/String"
JOINT_STATE = "sensor_msgs/msg/JointState"
COMPRESSED_IMAGE = "sensor_msgs/msg/CompressedImage"
CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
TF = "tf2_msgs/msg/TFMessage"

DEFINITIONS = {
    STRING: "string data",
    JOINT_STATE: _LINE.join(["std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort", _HEADER, _TIME]),
    COMPRESSED_IMAGE: _LINE.join(["std_msgs/Header header\nstring format\nuint8[] data", _HEADER, _TIME]),
    CAMERA_INFO: _LINE.join(
        [
            "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\nfloat64[9] k\nfloat64[9] r\nfloat64[12] p\n"
            "uint32 binning_x\nuint32 binning_y\nsensor_msgs/RegionOfInterest roi",
            _HEADER,
            _TIME,
            _ROI,
        ]
    ),
    TF: _LINE.join(["geometry_msgs/TransformStamped[] transforms", *_GEOMETRY, _HEADER, _TIME]),
}

EVENTS = "/tools/events"
SCENE = "/perception/scene"
ANNOTATED = "/perception/annotated/compressed"
JOINTS = "/joint_states"
SAFETY = "/safety/status"
CAMERA = "/camera/color/camera_info"
TF_STATIC = "/tf_static"
"""Topics of an episode. EVENTS, SCENE and SAFETY are strings that hold JSON."""
