"""Sends frames to a port as fast as one core can, and says how many.

neighbour_flood.py LINK pings|asks MAC SECONDS: from LINK, pings of both families, or ARP requests and neighbour
solicitations, to the port with MAC, from 64 neighbours that are not there."""
import socket
import struct
import sys
import time

SENDERS = 64
OURS4, OURS6 = socket.inet_aton("10.77.0.1"), socket.inet_pton(socket.AF_INET6, "fd77::1")
ARP, IPV4, IPV6 = b"\x08\x06", b"\x08\x00", b"\x86\xdd"
ICMP, ICMPV6 = 1, 58


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total >> 16) + (total & 0xFFFF)
    return struct.pack("!H", ~total & 0xFFFF)


def with_checksum(data, at, before=b""):
    return data[:at] + checksum(before + data) + data[at + 2:]


def mac_of(i):
    return bytes([2, 0, 0, 0, 1, i])


def ipv4_of(i):
    return socket.inet_aton(f"10.77.0.{100 + i}")


def ipv6_of(i):
    return socket.inet_pton(socket.AF_INET6, f"fd77::{0x100 + i:x}")


def ping4(i, mac):
    echo = with_checksum(struct.pack("!BBHHH", 8, 0, 0, i, 1) + bytes(56), 2)
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(echo), i, 0, 64, ICMP, 0, ipv4_of(i), OURS4)
    return mac + mac_of(i) + IPV4 + with_checksum(head, 10) + echo


def ipv6(i, mac, destination, hops, message):
    pseudo = ipv6_of(i) + destination + struct.pack("!II", len(message), ICMPV6)
    head = struct.pack("!IHBB", 0x60000000, len(message), ICMPV6, hops) + ipv6_of(i) + destination
    return mac + mac_of(i) + IPV6 + head + with_checksum(message, 2, pseudo)


def ping6(i, mac):
    return ipv6(i, mac, OURS6, 64, struct.pack("!BBHHH", 128, 0, 0, i, 1) + bytes(56))


def arp(i, mac):
    body = struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 1, mac_of(i), ipv4_of(i), bytes(6), OURS4)
    return (mac if i % 2 else b"\xff" * 6) + mac_of(i) + ARP + body + bytes(18)


def solicitation(i, mac):
    asked = struct.pack("!BBHI", 135, 0, 0, 0) + OURS6 + b"\x01\x01" + mac_of(i)
    if i % 2:
        return ipv6(i, mac, OURS6, 255, asked)
    group = bytes.fromhex("ff0200000000000000000001ff") + OURS6[13:]
    return ipv6(i, b"\x33\x33\xff" + OURS6[13:], group, 255, asked)


KINDS = {"pings": (ping4, ping6), "asks": (arp, solicitation)}


def main():
    link, kind, mac, seconds = sys.argv[1:]
    mac = bytes.fromhex(mac.replace(":", ""))
    frames = [build(i, mac) for i in range(SENDERS) for build in KINDS[kind]]
    sent, end = 0, time.monotonic() + float(seconds)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as s:
        s.bind((link, 0))
        while time.monotonic() < end:
            for frame in frames:
                try:
                    s.send(frame)
                    sent += 1
                except OSError:  # the link has no room at the moment
                    time.sleep(0.0001)
    print(sent)


if __name__ == "__main__":
    main()
