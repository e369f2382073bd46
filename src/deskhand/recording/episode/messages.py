"""Definitions of the ROS messages in an episode, as MCAP wants them: the message, then all that it contains."""

from __future__ import annotations

from deskhand.recording.qos import LATCHED, OfferedQos

_LINE = "\n" + "=" * 80 + "\n"
_TIME = "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec"
_HEADER = "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id"
_ROI = "MSG: sensor_msgs/RegionOfInterest\nuint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify"
_VECTOR = "MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z"
_QUATERNION = "MSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w"
_GEOMETRY = (
    "MSG: geometry_msgs/TransformStamped\nstd_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform",
    "MSG: geometry_msgs/Transform\ngeometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation",
    _VECTOR,
    _QUATERNION,
)
_OBJECT = (
    "MSG: deskhand_interfaces/SceneObject\nstring id\nstring label\nstring label_source\nstring color\nstring shape\nstring material\n"
    "geometry_msgs/Pose pose\ngeometry_msgs/Vector3 size\nsensor_msgs/PointCloud2 cloud\nfloat64 confidence\nbool is_container\nfloat64 wall\n"
    "string support\nstring relation\nint32[4] box2d\nuint8[] guessed\n"
    "string[] names\nfloat64[] name_probabilities\nstring[] name_sources"
)
_POSE = "MSG: geometry_msgs/Pose\ngeometry_msgs/Point position\ngeometry_msgs/Quaternion orientation"
_POINT = "MSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z"
_CLOUD = (
    "MSG: sensor_msgs/PointCloud2\nstd_msgs/Header header\nuint32 height\nuint32 width\nsensor_msgs/PointField[] fields\nbool is_bigendian\n"
    "uint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense"
)
_FIELD = (
    "MSG: sensor_msgs/PointField\nuint8 INT8=1\nuint8 UINT8=2\nuint8 INT16=3\nuint8 UINT16=4\nuint8 INT32=5\nuint8 UINT32=6\nuint8 FLOAT32=7\n"
    "uint8 FLOAT64=8\nstring name\nuint32 offset\nuint8 datatype\nuint32 count"
)

STRING = "std_msgs/msg/String"
JOINT_STATE = "sensor_msgs/msg/JointState"
COMPRESSED_IMAGE = "sensor_msgs/msg/CompressedImage"
CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
TF = "tf2_msgs/msg/TFMessage"
SAFETY_STATUS = "deskhand_interfaces/msg/SafetyStatus"
SCENE_OBJECTS = "deskhand_interfaces/msg/SceneObjects"

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
    SAFETY_STATUS: _LINE.join(["std_msgs/Header header\nbool stopped\nstring code\nstring reason", _HEADER, _TIME]),
    SCENE_OBJECTS: _LINE.join(
        [
            "std_msgs/Header header\nSceneObject[] objects\ngeometry_msgs/Pose table_pose\nfloat64[2] table_size\nsensor_msgs/PointCloud2 cloud",
            *(_OBJECT, _HEADER, _TIME, _POSE, _POINT, _QUATERNION, _VECTOR, _CLOUD, _FIELD),
        ]
    ),
}
"""The same as the packages' own files have, without their comments; a test holds them against those."""

EVENTS = "/tools/events"
SCENE = "/perception/scene"
ANNOTATED = "/perception/annotated/compressed"
JOINTS = "/joint_states"
SAFETY = "/safety/status"
CAMERA = "/camera/color/camera_info"
TF_STATIC = "/tf_static"
TF_MOVING = "/tf"
"""Topics of an episode, of the types that they have on the robot. What is on EVENTS is a String that holds JSON."""

SAMPLES = frozenset({JOINTS, TF_MOVING})
"""Topics of which each message says what the one before said, a little later."""
QOS = {
    EVENTS: OfferedQos(depth=200, latched=True),
    SCENE: LATCHED,
    ANNOTATED: LATCHED,
    TF_STATIC: LATCHED,
    SAFETY: OfferedQos(depth=1),
    JOINTS: OfferedQos(depth=5),
    CAMERA: OfferedQos(depth=2),
    TF_MOVING: OfferedQos(depth=100),
}
"""As our own nodes offer them."""
