"""What can go wrong with a cluster. Each scenario takes a bed whose members all live, breaks something, mends it, and
returns once all members live and everything is answered again; what it saw on the way is one line of text.
"""
import time

LONG_S = 10   # a leader's lease is over long before
TAKEOVER_S = 30  # a failure, not a measure
ODD_METRIC = "berth_cluster_clock_odd"


def others(bed, member):
    return [name for name in bed.member_names if name != member]


def wait_other_leader(bed, old):
    began = time.monotonic()
    new = bed.wait(f"a leader in the place of {old}", TAKEOVER_S, lambda: (bed.leader() or old) != old and bed.leader())
    return f"{new} leads {time.monotonic() - began:.1f} s later"


def restart(bed, member):
    bed.programs[member].start()
    bed.wait_answers(member)


def kill_leader(bed, chance):
    old = bed.leader()
    bed.members[old].kill()
    seen = wait_other_leader(bed, old)
    bed.wait_acknowledged()
    restart(bed, old)
    return f"{old} killed; {seen}"


def stop_leader(bed, chance):
    """It wakes up as a leader that is none any more."""
    old = bed.leader()
    began = time.monotonic()
    bed.members[old].stop()
    try:
        seen = wait_other_leader(bed, old)
        bed.wait_acknowledged()
        time.sleep(max(0, LONG_S - (time.monotonic() - began)))
    finally:
        bed.members[old].go_on()
    return f"{old} stood still; {seen}"


def cut_leader_from_etcd(bed, chance):
    old = bed.leader()
    bed.cut_from_etcd(old)
    try:
        # What the others say, since the one that is cut off may not know.
        bed.members[old].is_stopped = True
        seen = wait_other_leader(bed, old)
    finally:
        bed.members[old].is_stopped = False
        time.sleep(2)
        bed.net.mend_all()
    return f"{old} cut from etcd; {seen}"


def cut_follower_from_etcd(bed, chance):
    member = chance.choice(others(bed, bed.leader()))
    bed.cut_from_etcd(member)
    time.sleep(LONG_S)
    bed.net.mend_all()
    return f"the follower {member} cut from etcd"


def cut_leader_from_nodes(bed, chance):
    """Longer than nodes may be silent: none goes down, since nobody is heard."""
    leader = bed.leader()
    bed.net.cut_wire(leader)
    time.sleep(2 * bed.ttl_ms / 1000)
    bed.net.cut_wire(leader, False)
    return f"{leader} cut from the nodes"


def cut_leader_from_members(bed, chance):
    leader = bed.leader()
    bed.cut_from_members(leader)
    time.sleep(LONG_S)
    bed.net.mend_all()
    return f"{leader} cut from the other members"


def kill_follower(bed, chance):
    member = chance.choice(others(bed, bed.leader()))
    bed.members[member].kill()
    time.sleep(chance.uniform(0, 5))
    restart(bed, member)
    return f"the follower {member} killed"


def kill_all(bed, chance):
    """Nobody is left who knows more than its disk and etcd."""
    for program in bed.members.values():
        program.kill()
    for member in chance.sample(bed.member_names, len(bed.member_names)):
        bed.programs[member].start()
    for member in bed.member_names:
        bed.wait_answers(member)
    return "all members killed"


def kill_etcd(bed, chance):
    name = chance.choice(bed.etcd_names)
    bed.etcds[name].kill()
    time.sleep(4)
    bed.wait_acknowledged()
    bed.etcds[name].start()
    bed.wait("etcd is whole again", 30, bed.etcd_is_healthy)
    return f"etcd {name} killed"


def lose_etcd_majority(bed, chance):
    """Nothing is decided meanwhile; nodes beat on."""
    lost = chance.sample(bed.etcd_names, 2)
    for name in lost:
        bed.etcds[name].kill()
    time.sleep(1)
    began = time.monotonic()
    time.sleep(LONG_S)
    done = sum(bed.acknowledged_since(began).values())
    for name in lost:
        bed.etcds[name].start()
    bed.wait("etcd is whole again", 30, bed.etcd_is_healthy)
    if done:
        raise AssertionError(f"{done} changes were acknowledged while etcd had no majority")
    return f"etcd {lost[0]} and {lost[1]} lost and back"


def full_etcd(bed, chance):
    """As when etcd's space is used up: nothing is decided and everybody is told, until an operator says that there is room."""
    leader = bed.leader()
    bed.raise_no_space()
    bed.wait(f"{leader} says that nothing is decided", 20, lambda: bed.is_degraded(leader))
    began = time.monotonic()
    bed.wait(f"{leader} says why", 20, lambda: "event=cluster-etcd-full" in bed.new_log(leader))
    beats = bed.metrics(leader)["berth_heartbeats_accepted_total"]
    time.sleep(2)
    done = sum(bed.acknowledged_since(began).values())
    beats = bed.metrics(leader)["berth_heartbeats_accepted_total"] - beats
    bed.control_etcd("alarm", "disarm")
    if done or not beats:
        raise AssertionError(f"etcd was full: {done} changes were acknowledged, {beats} beats were answered")
    bed.wait_acknowledged()
    return f"etcd full; {leader} led before, {bed.leader()} leads"


def slow_etcd(bed, chance):
    """All of etcd stands still most of the time, in bursts."""
    for _ in range(20):
        for program in bed.etcds.values():
            program.stop()
        time.sleep(chance.uniform(0.1, 0.5))
        for program in bed.etcds.values():
            program.go_on()
        time.sleep(0.15)
    return "etcd slow"


def slow_disk(bed, chance):
    leader = bed.leader()
    if not bed.throttle(leader, 10):
        return "the disk cannot be made slow here"
    try:
        time.sleep(LONG_S)
    finally:
        bed.throttle(leader, 1000000)
    return f"the disk of {leader} slow"


def start_with_clocks(bed, member, up_s, day_s):
    """Until it knows that its time of day is not that of the others."""
    bed.programs[member].end()
    bed.start_member(member, up_s, day_s)
    bed.wait_answers(member)
    away_s = bed.started_s(member) - time.time()
    if abs(away_s - day_s) > 100:
        raise AssertionError(f"the time of day of {member} is {away_s:.0f} s away, not {day_s}")
    bed.wait(f"{member} sees that its clock is odd", 15, lambda: (bed.metrics(member) or {}).get(ODD_METRIC))


def start_with_right_clocks(bed, member):
    bed.programs[member].end()
    bed.start_member(member)
    bed.wait_answers(member)


def other_clock(bed, chance):
    """All clocks of a follower are an hour away: it is not the one that leads when the leader is gone."""
    old = bed.leader()
    member = chance.choice(others(bed, old))
    shift_s = chance.choice((-3600, 3600))
    with open("/proc/uptime", encoding="utf-8") as file:
        shift_s = shift_s if float(file.read().split()[0]) > 4000 else 3600
    start_with_clocks(bed, member, shift_s, shift_s)
    bed.members[old].kill()
    seen = wait_other_leader(bed, old)
    bed.wait_acknowledged()
    if bed.leader() == member:
        raise AssertionError(f"{member} leads, whose clock is {shift_s} s away")
    restart(bed, old)
    start_with_right_clocks(bed, member)
    return f"the clocks of {member} {shift_s} s away; {old} killed; {seen}"


def other_clock_leads(bed, chance):
    """The time of day of a member is an hour behind, and nobody else is there: it leads, and does what asks for no
    time. Then one leads that has the right time."""
    member = chance.choice(others(bed, bed.leader()))
    start_with_clocks(bed, member, 0, -3600)
    right = others(bed, member)
    for name in right:
        bed.members[name].kill()
    bed.wait(f"{member} leads", TAKEOVER_S, lambda: bed.leader() == member)
    bed.wait_acknowledged(ops=("put", "register"))
    for name in right:
        restart(bed, name)
    bed.members[member].kill()
    seen = wait_other_leader(bed, member)
    bed.wait_acknowledged()
    start_with_right_clocks(bed, member)
    return f"{member} led an hour behind; {seen}"


def join_under_load(bed, chance):
    """A member of an empty directory comes, leads perhaps, and leaves again."""
    bed.add_member("m4", "join")
    bed.wait_answers("m4")
    bed.wait("m4 has it all", 30, lambda: has_all(bed, "m4"))
    seen = kill_leader(bed, chance)
    time.sleep(1)
    bed.remove_member("m4")
    return f"m4 joined and left; {seen}"


def has_all(bed, member):
    """Its state is as new as the leader's was before."""
    leader = bed.leader()
    newest, own = (bed.metrics(one) if one else None for one in (leader, member))
    return newest and own and own["berth_state_index"] >= newest["berth_state_index"]


# Those that end a leadership come more often.
TAKEOVERS = [kill_leader, stop_leader, cut_leader_from_etcd, kill_all, other_clock, other_clock_leads,
             join_under_load]
REST = [cut_follower_from_etcd, cut_leader_from_nodes, cut_leader_from_members, kill_follower, kill_etcd,
        lose_etcd_majority, full_etcd, slow_etcd, slow_disk]
# Continuous integration: ten takeovers and something of everything else, in a few minutes.
SHORT = [kill_leader, stop_leader, kill_leader, cut_leader_from_etcd, kill_etcd, full_etcd, cut_leader_from_nodes,
         kill_all, slow_etcd, kill_leader, lose_etcd_majority, cut_leader_from_members, join_under_load, kill_leader,
         other_clock, other_clock_leads, slow_disk, kill_follower]


def run(bed, scenario, chance):
    """One scenario, and until all is well again; what it saw."""
    bed.say(f"{scenario.__name__} begins")
    seen = scenario(bed, chance)
    for member in bed.member_names:
        bed.wait_answers(member)
    bed.wait("a leader", TAKEOVER_S, bed.leader)
    bed.wait_acknowledged()
    bed.say(f"{scenario.__name__}: {seen}")
    return seen
