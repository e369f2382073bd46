"""Control table of Dynamixel X servos as they leave the factory, but for 1 Mbaud. Source: ROBOTIS e-Manual, XM430-W350."""

from __future__ import annotations

from deskhand.arms.emulate.registers import Register

TABLE: dict[str, Register] = {
    "model": Register(0, 2, 1020),  # XM430-W350
    "firmware": Register(6, 1, 46),
    "id": Register(7, 1, 1),
    "baud": Register(8, 1, 3),
    "return_delay": Register(9, 1, 250),  # of 2 us
    "drive_mode": Register(10),
    "mode": Register(11, 1, 3),
    "secondary_id": Register(12, 1, 255),
    "protocol": Register(13, 1, 2),
    "homing_offset": Register(20, 4),
    "moving_threshold": Register(24, 4, 10),
    "max_temperature": Register(31, 1, 80),
    "max_voltage": Register(32, 2, 160),  # of 0.1 V
    "min_voltage": Register(34, 2, 95),
    "pwm_limit": Register(36, 2, 885),
    "current_limit": Register(38, 2, 1193),  # of 2.69 mA
    "velocity_limit": Register(44, 4, 200),
    "max_position": Register(48, 4, 4095),
    "min_position": Register(52, 4),
    "shutdown": Register(63, 1, 52),
    "torque": Register(64),
    "led": Register(65),
    "status_level": Register(68, 1, 2),  # 0: only pings are answered, 1: and reads
    "registered": Register(69),
    "hardware_error": Register(70),
    "velocity_i": Register(76, 2, 1920),
    "velocity_p": Register(78, 2, 100),
    "position_d": Register(80, 2),
    "position_i": Register(82, 2),
    "position_p": Register(84, 2, 800),
    "watchdog": Register(98),
    "goal_pwm": Register(100, 2, 885),
    "goal_current": Register(102, 2, 1193),
    "goal_velocity": Register(104, 4),
    "profile_acceleration": Register(108, 4),
    "profile_velocity": Register(112, 4),
    "goal": Register(116, 4),
    "realtime_tick": Register(120, 2),
    "moving": Register(122),
    "moving_status": Register(123),
    "pwm": Register(124, 2),
    "current": Register(126, 2),
    "velocity": Register(128, 4),
    "position": Register(132, 4),
    "velocity_trajectory": Register(136, 4),
    "position_trajectory": Register(140, 4),
    "voltage": Register(144, 2),  # of 0.1 V
    "temperature": Register(146),
}
READ_ONLY = (range(7), range(69, 71), range(120, 147))
GOALS = range(100, 120)
