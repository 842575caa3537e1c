"""Reads from NVML a GPU's clocks, its power, and the reasons for low clocks."""

try:
    import pynvml
except ImportError:
    pynvml = None

# Bits of nvmlDeviceGetCurrentClocksEventReasons, by the names that nvidia-smi uses.
REASONS = {0x1: "gpu_idle", 0x2: "applications_clocks_setting", 0x4: "sw_power_cap", 0x8: "hw_slowdown",
           0x10: "sync_boost", 0x20: "sw_thermal_slowdown", 0x40: "hw_thermal_slowdown",
           0x80: "hw_power_brake_slowdown", 0x100: "display_clock_setting"}


def reasons_in(bits):
    return [name for bit, name in REASONS.items() if bits & bit]


class Nvml:
    """A GPU by its UUID. `missing` says why nothing can be read; then read() gives nothing."""

    def __init__(self, uuid):
        self.missing = "" if pynvml else "pynvml is not installed (pip install nvidia-ml-py)"
        if self.missing:
            return
        try:
            pynvml.nvmlInit()
            self.device = pynvml.nvmlDeviceGetHandleByUUID(uuid)
        except pynvml.NVMLError as error:
            self.missing = f"NVML: {error}"

    def read(self):
        """The state at this moment; None if NVML does not say."""
        if self.missing:
            return None
        try:
            return self.asked()
        except pynvml.NVMLError as error:
            self.missing = f"NVML: {error}"
            return None

    def asked(self):
        return {"sm_clock_mhz": pynvml.nvmlDeviceGetClockInfo(self.device, pynvml.NVML_CLOCK_SM),
                "memory_clock_mhz": pynvml.nvmlDeviceGetClockInfo(self.device, pynvml.NVML_CLOCK_MEM),
                "power_w": pynvml.nvmlDeviceGetPowerUsage(self.device) * 1e-3,
                "reasons": pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(self.device)}


def means(readings):
    """The means of several readings, and all reasons that one of them had; None where there are none."""
    if not readings:
        return dict.fromkeys(("sm_clock_mhz", "memory_clock_mhz", "power_w", "throttle_reasons"))
    bits = 0
    for reading in readings:
        bits |= reading["reasons"]
    return {**{field: sum(reading[field] for reading in readings) / len(readings)
               for field in ("sm_clock_mhz", "memory_clock_mhz", "power_w")},
            "throttle_reasons": reasons_in(bits)}
