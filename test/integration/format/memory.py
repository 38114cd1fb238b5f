"""Holds the buffers of a runtime call on the host, or on a GPU through its driver."""

import ctypes


class Host:
    def __init__(self, data):
        self.buffer = ctypes.create_string_buffer(data, max(len(data), 1))
        self.address, self.bytes = ctypes.addressof(self.buffer), len(data)

    def fetch(self):
        return self.buffer.raw[:self.bytes]


class Gpu:
    """The memory of the first GPU."""

    driver = None

    def __init__(self, data):
        if not Gpu.driver:
            Gpu.driver = open_driver()
        pointer = ctypes.c_uint64()
        call(Gpu.driver.cuMemAlloc_v2, ctypes.byref(pointer), ctypes.c_size_t(max(len(data), 1)))
        call(Gpu.driver.cuMemcpyHtoD_v2, pointer, data, ctypes.c_size_t(len(data)))
        self.address, self.bytes = pointer.value, len(data)

    def fetch(self):
        data = ctypes.create_string_buffer(max(self.bytes, 1))
        call(Gpu.driver.cuMemcpyDtoH_v2, data, ctypes.c_uint64(self.address), ctypes.c_size_t(self.bytes))
        return data.raw[:self.bytes]

    def __del__(self):
        call(Gpu.driver.cuMemFree_v2, ctypes.c_uint64(self.address))


def open_driver():
    """Opens the driver, with the context that the CUDA runtime uses on the calling thread."""
    driver = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call(driver.cuInit, 0)
    call(driver.cuDeviceGet, ctypes.byref(device), 0)
    call(driver.cuDevicePrimaryCtxRetain, ctypes.byref(context), device)
    call(driver.cuCtxSetCurrent, context)
    return driver


def call(function, *arguments):
    if error := function(*arguments):
        raise RuntimeError(f"{function.__name__}: CUDA error {error}")
