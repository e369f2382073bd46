"""The node specs against what is there: modules, parameters, ROS arguments."""

from __future__ import annotations

import ast
import socket
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from deskhand.arms.config import load_arm
from deskhand.bringup.arms import INTERBOTIX
from deskhand.bringup.cameras import CAMERAS
from deskhand.bringup.environment import workstation_defaults
from deskhand.bringup.spec import PARAMETERS, NodeSpec, StackOptions
from deskhand.bringup.stack import STACK, ForeignDesk, GazeboWorld, foreign_nodes, gazebo_nodes, robot_nodes, sim_nodes
from deskhand.errors import DeskhandError
from deskhand.safety.settings import load_safety
from deskhand.types.resources import resource_path

NODES = Path(__file__).resolve().parents[3] / "src/deskhand/nodes"


def declared(executable: str) -> set[str]:
    """Names that the node's parameter dataclass declares, read from the source: no ROS is needed."""
    tree = ast.parse((NODES / f"{executable}.py").read_text())
    kinds = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name.endswith("Parameters")]
    fields = [item.target for kind in kinds for item in kind.body if isinstance(item, ast.AnnAssign)]
    return {"use_sim_time", *(field.id for field in fields if isinstance(field, ast.Name))}


def all_specs() -> list[NodeSpec]:
    robot = robot_nodes(StackOptions(camera="realsense", camera_mount="fixed", driver="mock", episodes="/data", view=True, approval="motion"))
    driven = sim_nodes(StackOptions(arm="jetarm", driver="hiwonder_rrc"))
    return [*sim_nodes(StackOptions()), *driven, *(spec for spec in robot if spec.package == "deskhand")]


def test_every_node_has_its_module_with_a_main() -> None:
    for spec in all_specs():
        tree = ast.parse((NODES / f"{spec.executable}.py").read_text())
        assert any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body), spec.name


def test_every_parameter_is_one_that_its_node_declares() -> None:
    for spec in all_specs():
        assert set(spec.parameters) <= declared(spec.executable), spec.name


def test_the_parameter_file_speaks_of_nodes_and_parameters_that_exist() -> None:
    for key, value in yaml.safe_load(resource_path(PARAMETERS).read_text()).items():
        name = key.removeprefix("/**/")
        assert name in (*STACK, "sim")
        assert set(value["ros__parameters"]) <= declared(f"{name}_node")


def test_simulation_and_robot_run_the_same_stack() -> None:
    simulated = {spec.name: spec for spec in sim_nodes(StackOptions())}
    real = {spec.name: spec for spec in robot_nodes(StackOptions())}
    assert set(simulated) - {"sim"} == set(STACK) == set(real) - {"robot_state_publisher"}
    for name in STACK:
        assert simulated[name].parameters["use_sim_time"] is True
        assert real[name].parameters["use_sim_time"] is False


def test_a_robot_has_transforms_also_where_robot_state_publisher_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    ours = robot_nodes(StackOptions(namespace="left"))[0]
    assert (ours.name, ours.package, ours.namespace) == ("robot_state_publisher", "deskhand", "left")
    assert ours.command()[:3] == [sys.executable, "-m", "deskhand.nodes.state_publisher_node"]
    (tmp_path / "share/robot_state_publisher").mkdir(parents=True)
    (tmp_path / "share/robot_state_publisher/package.xml").touch()
    real = robot_nodes(StackOptions(namespace="left"))[0]
    assert real.command()[:4] == ["ros2", "run", "robot_state_publisher", "robot_state_publisher"]
    assert (real.name, real.parameters) == (ours.name, ours.parameters)


def test_the_world_is_told_to_the_simulation_alone(tmp_path: Path) -> None:
    one, other = socket.socketpair()
    with one, other:
        specs = sim_nodes(StackOptions(), scene=tmp_path / "desk.yaml", truth_fd=one.fileno())
        simulation, stack = specs[0], specs[1:]
        assert simulation.arguments == ("--scene", str(tmp_path / "desk.yaml"), "--truth-fd", str(one.fileno()))
        assert simulation.pass_fds == (one.fileno(),)
        for spec in stack:
            assert not spec.pass_fds
            assert not any("desk.yaml" in part or "truth" in part or "seed" in part for part in spec.command())


def test_gazebo_runs_the_same_stack_with_controllers_and_alone_knows_the_world(tmp_path: Path) -> None:
    world = GazeboWorld(
        name="w",
        camera="/camera_info",
        sdf=tmp_path / "desk.sdf",
        arm=tmp_path / "arm.urdf",
        urdf="<robot/>",
        bridge=tmp_path / "bridge.yaml",
        partition="mine",
    )
    specs = {spec.name: spec for spec in gazebo_nodes(StackOptions(namespace="left"), world)}
    assert set(specs) == {"gazebo", "gazebo_arm", "gazebo_camera", "gazebo_bridge", "robot_state_publisher", "spawner", *STACK}
    assert specs["gazebo"].command()[:2] == ["gz", "sim"] and "-s" in specs["gazebo"].arguments and "--ros-args" not in specs["gazebo"].command()
    for name, spec in specs.items():
        assert ("desk.sdf" in " ".join(spec.command())) == (name == "gazebo")
        assert (spec.environment.get("GZ_PARTITION") == "mine") == name.startswith("gazebo")
        assert spec.parameters.get("use_sim_time", True) is True
        assert not spec.package or "__ns:=/left" in spec.command()
    assert {"arm_controller", "gripper_controller", "joint_state_broadcaster"} <= set(specs["spawner"].arguments) and specs["spawner"].once
    assert "-s" not in gazebo_nodes(StackOptions(), world, gui=True)[0].arguments
    with pytest.raises(DeskhandError, match="controllers of its own"):
        gazebo_nodes(StackOptions(driver="lx16a", arm="jetarm"), world)


def test_ros_arguments_keep_types_and_place() -> None:
    spec = NodeSpec(
        "motion", "motion_node", namespace="/left/", parameters={"text": "1", "flag": True, "rate": 2.0, "names": ["a", "b"]}, remappings=(("a", "b"),)
    )
    assert spec.ros_arguments() == [
        *("--ros-args", "-r", "__node:=motion", "-r", "__ns:=/left", "-r", "a:=b"),
        *("-p", 'text:="1"', "-p", "flag:=true", "-p", "rate:=2.0", "-p", 'names:=["a", "b"]'),
    ]


def test_a_camera_whose_topics_differ_is_remapped_for_the_stack() -> None:
    specs = {spec.name: spec for spec in robot_nodes(StackOptions(camera="orbbec_ros"))}
    assert ("camera/aligned_depth_to_color/image_raw", "camera/depth/image_raw") in specs["perception"].remappings
    assert specs["camera"].package == "orbbec_camera" and specs["camera"].namespace == "camera"
    assert not {spec.name for spec in robot_nodes(StackOptions(camera="ros"))} & {"camera"}


def test_a_camera_that_publishes_already_is_found_under_its_own_topics() -> None:
    topics = "/depth_cam/rgb/image_raw, /depth_cam/depth/image_raw, /depth_cam/depth/camera_info"
    specs = {spec.name: spec for spec in robot_nodes(StackOptions(camera="ros", camera_topics=topics))}
    assert specs["perception"].remappings[1] == ("camera/aligned_depth_to_color/image_raw", "/depth_cam/depth/image_raw")
    with pytest.raises(DeskhandError, match="three"):
        robot_nodes(StackOptions(camera="ros", camera_topics="/a,/b"))


def test_our_camera_node_runs_the_driver_and_tells_where_the_camera_is(tmp_path: Path) -> None:
    spec = next(spec for spec in robot_nodes(StackOptions(camera="realsense", camera_mount="fixed")) if spec.name == "camera")
    assert spec.executable == "camera_node" and spec.parameters == {"driver": "realsense", "mount": "fixed"}
    spec = next(spec for spec in robot_nodes(StackOptions(camera="file", camera_file=str(tmp_path))) if spec.name == "camera")
    assert spec.parameters == {"driver": "file", "file": str(tmp_path)}
    with pytest.raises(DeskhandError, match="recording"):
        robot_nodes(StackOptions(camera="file"))


def test_a_driver_of_ros2_control_comes_with_its_controllers_and_its_urdf() -> None:
    specs = {spec.name: spec for spec in robot_nodes(StackOptions(driver="mock"))}
    controllers = yaml.safe_load(specs["controller_manager"].parameter_files[0].read_text())
    manager = controllers["/**/controller_manager"]["ros__parameters"]
    started = [argument for argument in specs["spawner"].arguments if argument in manager]
    assert started == ["joint_state_broadcaster", "arm_controller", "gripper_controller"]
    assert specs["spawner"].once
    assert "mock_components/GenericSystem" in str(specs["robot_state_publisher"].parameters["robot_description"])
    assert "--ros-args" in specs["controller_manager"].command()
    assert "ros2_control" not in str(robot_nodes(StackOptions())[0].parameters["robot_description"]).replace("ros2_control_mode", "")


def test_the_vendors_stack_of_the_wx250s_comes_whole_and_nobody_else_publishes_joint_states() -> None:
    specs = {spec.name: spec for spec in robot_nodes(StackOptions(driver="ros2_control", namespace="wx250s"))}
    sdk = specs["xs_sdk"]
    assert (sdk.package, sdk.executable, sdk.namespace) == ("interbotix_xs_sdk", "xs_sdk", "wx250s")
    assert list(specs).index("xs_sdk") < list(specs).index("controller_manager")
    assert sdk.parameters["load_configs"] is False, "it would write into the servos for good"
    motors, modes = (yaml.safe_load(Path(str(sdk.parameters[name])).read_text()) for name in ("motor_configs", "mode_configs"))
    arm = load_arm("wx250s")
    assert {name: motor["ID"] for name, motor in motors["motors"].items() if name in arm.joints} == {
        name: servo.id for name, servo in arm.driver.servos.items()
    }
    shadows = {motors["motors"][second]["ID"]: motors["motors"][first]["ID"] for first, told in motors["shadows"].items() for second in told["shadow_list"]}
    assert shadows == arm.driver.dynamixel.shadows
    assert motors["joint_order"] == [*arm.joints, "gripper"] and motors["groups"]["arm"] == list(arm.joints)
    assert motors["grippers"]["gripper"]["left_finger"] == arm.gripper.joint and motors["joint_state_publisher"]["topic_name"] == "joint_states"
    assert modes["groups"]["arm"]["operating_mode"] == "position" and modes["singles"]["gripper"]["operating_mode"] == "linear_position"
    started = specs["spawner"].arguments[:2]
    assert started == ("arm_controller", "gripper_controller") and "joint_state_broadcaster" not in specs["spawner"].arguments
    told = yaml.safe_load(specs["controller_manager"].parameter_files[0].read_text())
    assert "joint_state_broadcaster" not in told["/**/controller_manager"]["ros__parameters"]
    for name, joints in (("arm_controller", list(arm.joints)), ("gripper_controller", [arm.gripper.joint])):
        parameters = told[f"/**/{name}"]["ros__parameters"]
        assert (parameters["joints"], parameters["command_interfaces"], parameters["state_interfaces"]) == (joints, ["position"], ["position"])
    # its hardware interface makes a node of its own in that process: a name told to all would make it a second controller_manager
    assert not any("__node:=" in part for part in specs["controller_manager"].command())


def test_the_port_of_a_vendors_node_is_not_silently_ignored() -> None:
    with pytest.raises(DeskhandError, match="none can be given") as caught:
        robot_nodes(StackOptions(driver="ros2_control", port="/dev/ttyUSB0"))
    assert "ttyDXL" in caught.value.hint


def test_what_the_vendors_stack_does_is_said_where_it_is_chosen() -> None:
    assert "MOVES THE ARM TO ITS SLEEP POSE" in INTERBOTIX and "INTERBOTIX" in (Path(__file__).resolve().parents[3] / "launch/robot.launch.py").read_text()


def test_a_driver_of_ours_comes_with_its_node_and_its_port() -> None:
    specs = {spec.name: spec for spec in robot_nodes(StackOptions(arm="jetarm", driver="lx16a", port="/dev/servos"))}
    assert specs["arm"].parameters == {"arm": "jetarm", "driver": "lx16a", "port": "/dev/servos", "use_sim_time": False}
    assert "controller_manager" not in specs
    simulated = {spec.name: spec for spec in sim_nodes(StackOptions(arm="jetarm", driver="hiwonder_rrc", port="/tmp/port"))}
    assert simulated["sim"].arguments[-4:] == ("--bus", "hiwonder_rrc", "--port", "/tmp/port")
    assert simulated["sim"].parameters["realtime_factor"] == 1.0
    assert simulated["arm"].parameters["port"] == "/tmp/port" and simulated["arm"].parameters["use_sim_time"] is True


@pytest.mark.parametrize(("arm", "driver"), [("wx250s", "hiwonder_rrc"), ("jetarm", "ros2_control"), ("so101", "lx16a")])
def test_an_arm_is_not_driven_by_what_it_has_not(arm: str, driver: str) -> None:
    with pytest.raises(DeskhandError, match="it has") as caught:
        robot_nodes(StackOptions(arm=arm, driver=driver))
    assert caught.value.code == "config_error"


def test_the_controllers_move_the_joints_of_the_arm() -> None:
    from deskhand.arms.config import load_arm

    for file in resource_path("config/ros2_control").glob("*.yaml"):
        arm, controllers = load_arm(file.stem), yaml.safe_load(file.read_text())
        assert tuple(controllers["/**/arm_controller"]["ros__parameters"]["joints"]) == tuple(arm.joints)
        assert controllers["/**/gripper_controller"]["ros__parameters"]["joint"] == arm.gripper.joint


@pytest.mark.parametrize("options", [StackOptions(camera="kinect"), StackOptions(driver="magic"), StackOptions(arm="no_such_arm")])
def test_an_unknown_choice_is_a_clear_error(options: StackOptions) -> None:
    with pytest.raises(DeskhandError) as caught:
        robot_nodes(options)
    assert caught.value.code == "config_error"
    if options.camera == "kinect":
        assert all(name in str(caught.value) for name in CAMERAS)


def test_a_sourced_ros_says_itself_how_it_talks() -> None:
    assert set(workstation_defaults({"ROS_DISTRO": "jazzy"})) == {"FASTRTPS_DEFAULT_PROFILES_FILE", "MUJOCO_GL", "MALLOC_ARENA_MAX"}
    assert workstation_defaults({"ROS_DISTRO": "jazzy", "FASTRTPS_DEFAULT_PROFILES_FILE": "mine.xml", "MUJOCO_GL": "glfw", "MALLOC_ARENA_MAX": "8"}) == {}


def test_the_middleware_in_force_gets_its_own_configuration_and_no_other() -> None:
    for distribution in ("humble", "jazzy"):
        cyclone = workstation_defaults({"ROS_DISTRO": distribution, "RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"})
        assert set(cyclone) == {"CYCLONEDDS_URI", "MUJOCO_GL", "MALLOC_ARENA_MAX"}
        assert Path(cyclone["CYCLONEDDS_URI"].removeprefix("file://")).is_file()
        assert set(workstation_defaults({"ROS_DISTRO": distribution, "RMW_IMPLEMENTATION": "rmw_zenoh_cpp"})) == {"MUJOCO_GL", "MALLOC_ARENA_MAX"}
        assert "CYCLONEDDS_URI" not in workstation_defaults({"ROS_DISTRO": distribution, "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp"})


def test_localhost_only_holds_for_the_transports_of_the_profile_too() -> None:
    """Humble's rmw_fastrtps adds a restricted transport and leaves those of the profile as they are."""

    def transports(environment: dict[str, str]) -> dict[str, list[str]]:
        root = ElementTree.parse(workstation_defaults(environment)["FASTRTPS_DEFAULT_PROFILES_FILE"]).getroot()
        kinds = {item.findtext("{*}type") or "": item for item in root.iter(f"{root.tag.removesuffix('profiles')}transport_descriptor")}
        return {kind: [address.text or "" for address in item.findall("{*}interfaceWhiteList/{*}address")] for kind, item in kinds.items()}

    assert transports({"ROS_DISTRO": "humble", "ROS_LOCALHOST_ONLY": "1"}) == {"SHM": [], "UDPv4": ["127.0.0.1"]}
    assert transports({"ROS_DISTRO": "humble", "ROS_LOCALHOST_ONLY": "0"}) == transports({}) == {"SHM": [], "UDPv4": []}


def test_without_ros_dds_stays_on_this_machine() -> None:
    defaults = workstation_defaults({})
    assert defaults["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert Path(defaults["FASTRTPS_DEFAULT_PROFILES_FILE"]).is_file()
    assert "ROS_AUTOMATIC_DISCOVERY_RANGE" not in workstation_defaults({"ROS_LOCALHOST_ONLY": "1"})


def test_all_give_way_to_those_that_stop_the_arm() -> None:
    nice = {spec.name: spec.nice for spec in sim_nodes(StackOptions())}
    assert nice["motion"] == nice["safety"] == nice["sim"] == 0
    assert all(nice[name] > 0 for name in ("perception", "grasping", "tool_server", "orchestrator", "recorder"))
    [looker] = [spec for spec in sim_nodes(StackOptions()) if spec.name == "perception"]
    assert looker.command()[:3] == ["nice", "-n", str(looker.nice)] and looker.command()[3] == sys.executable


def test_composed_what_neither_stops_nor_drives_the_arm_is_one_process_with_the_parameters_of_each() -> None:
    apart = {spec.name: spec for spec in sim_nodes(StackOptions(arm="jetarm"))}
    specs = {spec.name: spec for spec in sim_nodes(StackOptions(arm="jetarm", composed=True))}
    assert set(specs) == {"sim", "motion", "safety", "composed"} and all(specs[name] == apart[name] for name in ("sim", "motion", "safety"))
    together = specs["composed"]
    assert set(together.arguments) == {"perception", "grasping", "tool_server", "orchestrator", "recorder"}
    for name in together.arguments:
        assert {key.partition(":")[2]: value for key, value in together.parameters.items() if key.startswith(f"{name}:")} == apart[name].parameters
    assert not any("__node" in word for word in together.ros_arguments()) and together.nice > 0
    desk = ForeignDesk(Path("arm.yaml"), Path("safety.yaml"))
    foreign = {spec.name: spec for spec in foreign_nodes(StackOptions(composed=True), desk)}
    assert foreign["composed"].parameters["tool_server:settings"] == foreign["motion"].parameters["settings"]


def test_the_operator_page_is_one_node_more_where_it_is_asked_for_and_has_nothing_of_the_truth() -> None:
    plain, asked = sim_nodes(StackOptions()), sim_nodes(StackOptions(view=True, view_port=9000, approval="motion", arm="jetarm"), truth_fd=7)
    assert [spec.name for spec in asked] == [*(spec.name for spec in plain), "view"]
    page = asked[-1]
    assert page.parameters["port"] == 9000 and page.parameters["arm"] == "jetarm" and page.pass_fds == () and "host" not in page.parameters
    approval = {spec.name: spec.parameters.get("approval") for spec in asked}
    assert approval["tool_server"] == "motion" and all(value is None for name, value in approval.items() if name != "tool_server")
    assert "approval" not in next(spec for spec in plain if spec.name == "tool_server").parameters


def test_leave_for_other_callers_is_the_safety_files_on_a_robot_and_none_in_simulation():
    def server(nodes):
        return next(spec for spec in nodes if spec.name == "tool_server").parameters

    assert server(sim_nodes(StackOptions()))["approval_others"] == "never"
    assert server(sim_nodes(StackOptions(approval_others="motion")))["approval_others"] == "motion"
    assert "approval_others" not in server(robot_nodes(StackOptions(driver="mock"))) and load_safety().approval_others == "motion"
    assert server(robot_nodes(StackOptions(driver="mock", approval_others="always")))["approval_others"] == "always"


def test_the_arms_own_wrist_camera_is_what_all_nodes_are_given() -> None:
    specs = {spec.name: spec for spec in robot_nodes(StackOptions(arm="jetarm", driver="hiwonder_rrc", camera="orbbec", camera_mount="wrist"))}
    assert specs["camera"].parameters["mount"] == specs["perception"].parameters["camera"] == "wrist_jetarm"
    other = {spec.name: spec for spec in robot_nodes(StackOptions(arm="wx250s", camera_mount="wrist"))}
    assert other["perception"].parameters["camera"] == "wrist"


def test_the_vendors_camera_of_the_jetarm_has_a_name_for_its_topics() -> None:
    specs = {spec.name: spec for spec in robot_nodes(StackOptions(arm="jetarm", camera="jetarm_vendor"))}
    assert "camera" not in specs
    assert ("camera/color/image_raw", "/depth_cam/rgb/image_raw") in specs["perception"].remappings
    assert ("camera/aligned_depth_to_color/image_raw", "/depth_cam/depth/image_raw") in specs["perception"].remappings


def test_who_takes_pictures_knows_where_a_camera_is_that_nobody_publishes() -> None:
    options = StackOptions(arm="jetarm", driver="hiwonder_rrc", camera="ros", camera_mount="fixed")
    for specs in (robot_nodes(options), sim_nodes(options)):
        told = {spec.name: spec.parameters.get("camera") for spec in specs if spec.name in ("perception", "tool_server")}
        assert told == {"perception": "fixed", "tool_server": "fixed"}
