"""A RealSense that exists in librealsense only: it sees a tilted plane, by known intrinsics and a known baseline."""

import time

import numpy as np

rs = None
WIDTH, HEIGHT, BASELINE = 640, 480, 0.015
DEPTH_FOCAL, COLOR_FOCAL = 385.0, 612.0


def library():
    import pyrealsense2

    global rs
    rs = pyrealsense2
    return rs


def _stream(kind, number, form, bytes_per_pixel, focal):
    stream = rs.video_stream()
    stream.type, stream.index, stream.uid, stream.fmt, stream.bpp, stream.fps = kind, 0, number, form, bytes_per_pixel, 30
    stream.width, stream.height = WIDTH, HEIGHT
    lens = rs.intrinsics()
    lens.width, lens.height, lens.fx, lens.fy, lens.ppx, lens.ppy, lens.model = WIDTH, HEIGHT, focal, focal, 321.5, 238.0, rs.distortion.none
    stream.intrinsics = lens
    return stream


class SoftwareRealSense:
    """``expose`` puts one pair of pictures into the pipeline."""

    def __init__(self, first=1):
        library()
        self.device = rs.software_device()
        self.device.register_info(rs.camera_info.serial_number, "0042")
        self.device.register_info(rs.camera_info.name, "software")
        self._sensors, self._profiles = [], []
        for name, kind, form, size, focal in (
            ("Depth", rs.stream.depth, rs.format.z16, 2, DEPTH_FOCAL),
            ("Color", rs.stream.color, rs.format.rgb8, 3, COLOR_FOCAL),
        ):
            sensor = self.device.add_sensor(name)
            self._profiles.append(sensor.add_video_stream(_stream(kind, len(self._profiles), form, size, focal), True))
            self._sensors.append(sensor)
        self._sensors[0].add_read_only_option(rs.option.depth_units, 0.001)
        self._sensors[0].add_read_only_option(rs.option.stereo_baseline, 50.0)
        offset = rs.extrinsics()
        offset.rotation, offset.translation = [1, 0, 0, 0, 1, 0, 0, 0, 1], [BASELINE, 0, 0]
        self._profiles[0].register_extrinsics_to(self._profiles[1], offset)
        self.device.create_matcher(rs.matchers.default)
        self.number = first

    def find(self, _library, serial):
        return self.device if serial in ("", "0042") else None

    def expose(self, depth, color, skip=0):
        self.number += 1 + skip
        stamp = time.time() * 1000
        for sensor, profile, pixels, size in zip(self._sensors, self._profiles, (depth, color), (2, 3), strict=True):
            frame = rs.software_video_frame()
            frame.pixels, frame.bpp, frame.stride = np.ascontiguousarray(pixels), size, WIDTH * size
            frame.timestamp, frame.frame_number, frame.domain = stamp, self.number, rs.timestamp_domain.system_time
            frame.profile = profile.as_video_stream_profile()
            if size == 2:
                frame.depth_units = 0.001
            sensor.on_video_frame(frame)


def plane_depth(normal, distance, focal=DEPTH_FOCAL):
    """(H, W) uint16 [mm] that the depth sensor sees of the plane normal . p = distance in its own frame."""
    v, u = np.mgrid[0:HEIGHT, 0:WIDTH]
    rays = np.stack([(u - 321.5) / focal, (v - 238.0) / focal, np.ones_like(u, float)], axis=-1)
    return np.round(1000 * distance / (rays @ np.asarray(normal))).astype(np.uint16)
