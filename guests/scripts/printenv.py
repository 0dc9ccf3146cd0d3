#!/usr/bin/env python3
"""Prints its environment as bytes, one NAME=value a line, sorted."""
import os
import sys

lines = [name + b"=" + value + b"\n" for name, value in sorted(os.environb.items())]
sys.stdout.buffer.write(b"Content-Type: text/plain\n\n" + b"".join(lines))
