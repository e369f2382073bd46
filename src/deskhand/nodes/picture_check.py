"""Pictures of a camera's size between two processes: ``deskhand doctor`` and a test run this twice, once to send and once to receive.

``python -m deskhand.nodes.picture_check send|receive`` in one ROS domain; the receiver prints one JSON line.
"""

from __future__ import annotations

import array
import json
import sys
import time

import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image

COUNT, RATE = 30, 30.0  # pictures, [Hz]
WIDTH, HEIGHT = 640, 480
LIMIT = 15.0  # [s] for the other side to appear


def send(node: Node) -> int:
    """Publish COUNT pictures at RATE, best effort as a camera does, once somebody listens; 1 when nobody does."""
    publisher = node.create_publisher(Image, "picture_check", qos_profile_sensor_data)
    end = time.monotonic() + LIMIT
    while publisher.get_subscription_count() == 0:
        if time.monotonic() > end:
            return 1
        time.sleep(0.02)
    time.sleep(0.3)  # the other side may know of us a little later than we of it
    data = array.array("B", bytes(range(256)) * (WIDTH * HEIGHT * 3 // 256))
    for number in range(COUNT):
        message = Image(height=HEIGHT, width=WIDTH, step=WIDTH * 3, encoding="rgb8")
        message.header.frame_id = str(number)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(time.time_ns(), 1_000_000_000)
        message.data = data
        publisher.publish(message)
        time.sleep(1.0 / RATE)
    time.sleep(0.5)
    return 0


def receive(node: Node) -> int:
    """Count what arrives until the last picture, or until none has come for 3 s."""
    delays: list[float] = []
    numbers: set[int] = set()

    def take(message: Image) -> None:
        delays.append(time.time() - message.header.stamp.sec - message.header.stamp.nanosec * 1e-9)
        numbers.add(int(message.header.frame_id))

    node.create_subscription(Image, "picture_check", take, qos_profile_sensor_data)
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and (COUNT - 1) not in numbers:
        before = len(delays)
        rclpy.spin_once(node, timeout_sec=0.1)
        if len(delays) > before:
            end = time.monotonic() + 3.0
    delays.sort()
    print(json.dumps({"sent": COUNT, "received": len(numbers), "median_delay_ms": round(delays[len(delays) // 2] * 1e3, 2) if delays else None}))
    return 0 if numbers else 1


def main() -> int:
    """Send or receive."""
    rclpy.init()
    node = Node(f"picture_check_{sys.argv[1]}")
    try:
        return {"send": send, "receive": receive}[sys.argv[1]](node)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    sys.exit(main())
