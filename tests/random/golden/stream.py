#!/usr/bin/python3
"""First words of Stream::seeded(seed, purpose, instance), from hashlib and the openssl command."""
import hashlib
import struct
import subprocess

for seed, purpose, instance in [(0, 2, 0), (12345, 1, 7)]:
    message = b"sotto seeded stream 1" + struct.pack("<QBQ", seed, purpose, instance)
    key = hashlib.sha256(message).hexdigest()
    out = subprocess.run(
        ["openssl", "enc", "-aes-256-ctr", "-K", key, "-iv", "0" * 32, "-nopad"],
        input=bytes(16416), capture_output=True, check=True).stdout
    words = struct.unpack("<2052Q", out)
    # the first two words and two beyond the first buffers
    print(seed, purpose, instance, *(f"0x{words[i]:016x}" for i in (0, 1, 1024, 2051)))
