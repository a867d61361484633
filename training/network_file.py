"""Files of networks: a header that says what the weights are, then the weights. The format is in docs/FORMATS.md.

Files of old are the weights alone; this gives one a header:

    python3 training/network_file.py old.net -o new.net --provenance "who trained it, on what, when"
"""

import argparse
import struct

from blake3 import blake3  # pip install blake3

from shape import SIZES

MAGIC = b"anqi-net"
FORMAT = 1


def with_header(weights: bytes, provenance: str) -> bytes:
    line = provenance.encode()
    assert len(line) <= 1000 and "\n" not in provenance
    head = MAGIC + struct.pack("<2I", FORMAT, len(line)) + struct.pack("<5I", *SIZES)
    head += blake3(weights).digest() + line
    return head + blake3(head).digest() + weights


def weights_of(data: bytes) -> bytes:
    """The weights of a file, with or without a header."""
    if not data.startswith(MAGIC):
        return data
    version, length = struct.unpack_from("<2I", data, 8)
    end = 68 + length
    if version != FORMAT or blake3(data[:end]).digest() != data[end : end + 32]:
        raise ValueError("another format, or a damaged header")
    weights = data[end + 32 :]
    if blake3(weights).digest() != data[36:68]:
        raise ValueError("damaged weights")
    return weights


def main():
    parser = argparse.ArgumentParser(description="Give a network a header")
    parser.add_argument("network")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--provenance", required=True, help="one line: where the weights come from")
    args = parser.parse_args()
    with open(args.network, "rb") as file:
        weights = weights_of(file.read())
    with open(args.output, "wb") as file:
        file.write(with_header(weights, args.provenance))


if __name__ == "__main__":
    main()
