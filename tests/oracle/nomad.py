"""What is compared of a decision of Nomad's scheduler, aspect by aspect; recordings/README.md says what each means.

differences(scenario, output) gives {aspect: what differs} for one output of `berth simulate`.
"""
import collections
import itertools
import json
import math

SCORE_MARGIN = 1e-9
# A false one of these says something, since missing means unknown.
POINTERS = ("Healthy", "Migrate", "Reschedule", "ForceReschedule")
# Ports below are chosen by jobs, those above by the scheduler.
DYNAMIC_PORT_MIN = 20000
# The first follows the clock, the second the placements.
NOT_OF_DEPLOYMENTS = ("RequireProgressBy", "PlacedCanaries")
COUNTS = ("NodesEvaluated", "NodesFiltered", "NodesExhausted", "NodesAvailable", "ClassFiltered", "ConstraintFiltered",
          "ClassExhausted", "DimensionExhausted", "CoalescedFailures")


def is_nothing(key, value):
    if isinstance(value, bool):
        return not value and key not in POINTERS
    return value in (None, "", 0) or value == [] or value == {}


def plain(value):
    """Without members that have the zero value, and with numbers that compare equal when they are meant to be."""
    if isinstance(value, dict):
        members = ((key, plain(member)) for key, member in value.items())
        return {key: member for key, member in members if not is_nothing(key, member)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else float(f"{value:.12g}")
    return value


def as_text(value):
    return json.dumps(plain(value), sort_keys=True)


def group_by_text(rows):
    return collections.Counter(as_text(row) for row in rows)


class Decision:
    """An output together with its scenario, so that an id that was generated reads as what it was given to."""

    def __init__(self, scenario, output):
        given = scenario["Input"]
        self.allocations = {each["ID"]: each for each in given.get("Allocs") or []}
        self.plans = output.get("Plans") or []
        self.finished = output.get("Evals") or []
        self.created = output.get("CreateEvals") or []
        self.put_back = output.get("ReblockEvals") or []
        self.names = {each["ID"]: each["ID"] for each in given.get("Deployments") or []}
        self.names.update((key, key) for key in self.allocations)
        self.names[given["Eval"]["ID"]] = given["Eval"]["ID"]
        self.generated = self.name_generated()

    def name_generated(self):
        names = {each.get("ID"): f"the new {each.get('Name')}" for each in self.of_plans("Placements")}
        names.update((plan["Deployment"].get("ID"), "the new deployment")
                     for plan in self.plans if plan.get("Deployment"))
        names.update((each.get("ID"), f"a new evaluation, {each.get('TriggeredBy')}, {each.get('Status')}")
                     for each in self.created)
        return names

    def of_plans(self, member):
        return list(itertools.chain.from_iterable(plan.get(member) or [] for plan in self.plans))

    def refer(self, identifier):
        if not identifier:
            return None
        return self.names.get(identifier) or self.generated.get(identifier, "what the plan does not have")

    def refer_in(self, text):
        """A description with the generated ids in it replaced."""
        return " ".join(self.generated.get(word, word) for word in (text or "").split())


def stops(decision):
    for each in decision.of_plans("NodeUpdate"):
        yield [each.get("ID"), each.get("DesiredStatus") or "stop", each.get("DesiredDescription"),
               each.get("ClientStatus"), decision.refer(each.get("FollowupEvalID"))]


def preemptions(decision):
    for each in decision.of_plans("NodePreemptions"):
        yield [each.get("ID"), decision.refer_in(each.get("DesiredDescription")),
               decision.refer(each.get("PreemptedByAllocation"))]


def placements(decision):
    for each in decision.of_plans("Placements"):
        history = (each.get("RescheduleTracker") or {}).get("Events") or []
        yield [each.get("Name"), each.get("TaskGroup"), each.get("JobVersion"), bool(each.get("Canary")),
               decision.refer(each.get("PreviousAllocation")), decision.refer(each.get("DeploymentID")),
               [[event.get(key) for key in ("PrevAllocID", "PrevNodeID", "Delay")] for event in history]]


def placement_nodes(decision):
    return ([each.get("Name"), each.get("NodeID")] for each in decision.of_plans("Placements"))


def inplace(decision):
    for each in decision.of_plans("InplaceUpdates"):
        resources = each.get("AllocatedResources") or {}
        yield ["updated", each.get("ID"), each.get("JobVersion"), decision.refer(each.get("DeploymentID")),
               resources.get("Tasks"), resources.get("Shared")]
    for each in decision.of_plans("AttributeUpdates"):
        yield ["follow-up", each.get("ID"), decision.refer(each.get("FollowupEvalID"))]


def client_states(allocation):
    return [state.get("Value") or "" for state in allocation.get("AllocStates") or []]


def inplace_status(decision):
    for each in decision.of_plans("InplaceUpdates"):
        states = client_states(each)
        before = decision.allocations.get(each.get("ID"))
        if states and (before is None or states != client_states(before)):
            yield [each.get("ID"), each.get("ClientStatus") == "unknown", states,
                   decision.refer(each.get("FollowupEvalID"))]


def task_handles(decision):
    for each in decision.of_plans("Placements"):
        states = each.get("TaskStates") or {}
        if states:
            yield [each.get("Name"), {task: state.get("TaskHandle") for task, state in states.items()}]


def annotated(decision):
    return (plan.get("DesiredTGUpdates") or {} for plan in decision.plans)


def deployments(decision):
    for plan in decision.plans:
        made = plan.get("Deployment")
        if made:
            groups = {name: {key: value for key, value in group.items() if key not in NOT_OF_DEPLOYMENTS}
                      for name, group in (made.get("TaskGroups") or {}).items()}
            yield ["made", made.get("JobVersion"), made.get("Status"), made.get("StatusDescription"), groups]
    for each in decision.of_plans("DeploymentUpdates"):
        yield ["updated", decision.refer(each.get("DeploymentID")), each.get("Status"), each.get("StatusDescription")]


def evaluation_row(decision, each):
    return [each.get(key) for key in ("Status", "StatusDescription", "TriggeredBy", "Type", "Priority")] + [
        each.get("QueuedAllocations") or {}, sorted(each.get("FailedTGAllocs") or {}),
        [decision.refer(each.get(key)) for key in ("BlockedEval", "NextEval", "DeploymentID")]]


def evals(decision):
    for each in decision.finished:
        yield ["finished"] + evaluation_row(decision, each)
    for each in decision.created:
        yield ["created", *evaluation_row(decision, each), *(each.get(key) for key in ("Wait", "WaitUntil", "NodeID")),
               bool(each.get("EscapedComputedClass")), sorted((each.get("ClassEligibility") or {}).values()),
               decision.refer(each.get("PreviousEval"))]
    for each in decision.put_back:
        yield ["put back", decision.refer(each.get("ID")), each.get("Status")]


def failed_metrics(decision):
    for each in decision.finished:
        for group, metrics in (each.get("FailedTGAllocs") or {}).items():
            yield [group, {key: metrics.get(key) for key in COUNTS}]


# Aspects that are lists of rows without an order.
ROWS = {function.__name__: function for function in (
    stops, preemptions, placements, placement_nodes, inplace, inplace_status, task_handles, annotated, deployments,
    evals, failed_metrics)}
# Nomad 1.1 knew nothing that these are about.
NOT_OF_1_1 = ("inplace_status", "task_handles", "resources")


def compare_counts(expected, actual):
    """None when two bags hold the same."""
    if expected == actual:
        return None
    missing, more = (list((a - b).elements())[:3] for a, b in ((expected, actual), (actual, expected)))
    return f"recorded and not there: {missing}; there and not recorded: {more}"


def is_settled(scenario, aspect):
    """Whether the recorded scheduler always decides so; which groups are annotated follows the deployments."""
    same = scenario.get("SameInUnpatched") or {}
    needed = (aspect, "deployments") if aspect == "annotated" else (aspect,)
    return all(same.get(each, True) for each in needed)


def is_sampled(scenario):
    """Whether the recorded scheduler looked at some of the nodes only."""
    return scenario["Scenario"]["Type"] in ("service", "batch")


def scores_of_nodes(placement):
    """{node: its scores} of what a placement tells of the nodes that were scored."""
    told = (placement.get("Metrics") or placement).get("ScoreMetaData") or []
    return {each.get("NodeID"): {**(each.get("Scores") or {}), "": each.get("NormScore", 0.0)} for each in told}


def is_close(expected, actual):
    return all(abs((expected.get(key) or 0.0) - (actual.get(key) or 0.0)) <= SCORE_MARGIN
               for key in expected.keys() | actual.keys())


def placed_once(decision):
    """Placements that share their node with no other of the plan."""
    placed = decision.of_plans("Placements")
    count = collections.Counter(each.get("NodeID") for each in placed)
    return [each for each in placed if count[each.get("NodeID")] == 1]


def comparable_scores(decision, sampled):
    """{(name, node): scores} that nothing else in the plan can have moved."""
    if sampled:
        placed = decision.of_plans("Placements")
        return {(each.get("Name"), node): scores for each in placed
                for node, scores in scores_of_nodes(each).items()} if len(placed) == 1 else {}
    return {(each.get("Name"), node): scores for each in placed_once(decision)
            for node, scores in scores_of_nodes(each).items() if node == each.get("NodeID")}


def compare_members(expected, actual, is_same):
    """The first of what both have that differs, in words."""
    for key in sorted(expected.keys() & actual.keys()):
        if not is_same(expected[key], actual[key]):
            return f"{key}: recorded {as_text(expected[key])}, got {as_text(actual[key])}"
    return None


def compare_scores(scenario, expected, actual):
    sampled = is_sampled(scenario)
    return compare_members(comparable_scores(expected, sampled), comparable_scores(actual, sampled), is_close)


def chosen_score(decision):
    """The score of the only placement's node."""
    placed = decision.of_plans("Placements")
    if len(placed) != 1:
        return None
    return scores_of_nodes(placed[0]).get(placed[0].get("NodeID"), {}).get("")


def compare_sampled_node(expected, actual):
    """Who looks at every node may choose a better one, never a worse one."""
    wanted, got = chosen_score(expected), chosen_score(actual)
    if wanted is None or (got is not None and got >= wanted - SCORE_MARGIN):
        return None
    return f"the node's score is {got}, recorded was {wanted}"


def without_chance(resources):
    """Resources without what is chosen at random there: which device instances and dynamic ports."""
    tasks, shared = (json.loads(json.dumps(resources.get(key) or {})) for key in ("Tasks", "Shared"))
    for task in tasks.values():
        devices = [(each.get("Type") or "", len(each.get("DeviceIDs") or [])) for each in task.get("Devices") or []]
        task["Devices"] = sorted(devices)
    networks = [shared] + [each for holder in [shared, *tasks.values()] for each in holder.get("Networks") or []]
    for port in (port for network in networks for key in ("Ports", "DynamicPorts") for port in network.get(key) or []):
        # A port mapped to itself has the dynamic one's number there too.
        if not port.get("Value") and (port.get("To") or 0) >= DYNAMIC_PORT_MIN:
            del port["To"]
    return plain({"Tasks": tasks, "Shared": shared})


def comparable_resources(decision):
    """{(name, node): resources} of nodes where the plan changes nothing else."""
    changed = {each.get("NodeID") for member in ("NodeUpdate", "NodePreemptions", "InplaceUpdates")
               for each in decision.of_plans(member)}
    return {(each.get("Name"), each.get("NodeID")): without_chance(each.get("AllocatedResources") or {})
            for each in placed_once(decision) if each.get("NodeID") not in changed}


def compare_resources(expected, actual):
    return compare_members(comparable_resources(expected), comparable_resources(actual), lambda a, b: a == b)


def compare_exact_scores(recorded, placed):
    """Of one placement all nodes' scores are recorded: each must be the same, and the chosen node the best."""
    if len(recorded) != 1 or len(placed) != 1:
        return None
    all_nodes, got = scores_of_nodes(recorded[0]), scores_of_nodes(placed[0])
    for node, scores in got.items():
        if node not in all_nodes or not is_close(all_nodes[node], scores):
            return f"{node}: recorded {all_nodes.get(node)}, got {scores}"
    chosen = all_nodes.get(placed[0].get("NodeID"), {}).get("", math.inf)
    if all_nodes and chosen < max(scores[""] for scores in all_nodes.values()) - SCORE_MARGIN:
        return f"there was a better node than {placed[0].get('NodeID')}"
    return None


def compare_exact(scenario, actual):
    """(aspect, difference) against the same scheduler when it looked at every node."""
    exact = scenario["Exact"]
    same = exact.get("Same") or {}
    placed = actual.of_plans("Placements")
    nodes = [collections.Counter((each.get("Name"), each.get("NodeID")) for each in list_)
             for list_ in (exact["Placements"], placed)]
    victims = [collections.Counter(each.get("ID") for each in list_)
               for list_ in (exact.get("NodePreemptions") or [], actual.of_plans("NodePreemptions"))]
    if same.get("placement_nodes") and same.get("placements"):
        yield "exact_nodes", compare_counts(*nodes)
    yield "exact_scores", compare_exact_scores(exact["Placements"], placed)
    if same.get("placement_nodes") and same.get("preemptions"):
        yield "exact_preemptions", compare_counts(*victims)


def compare_aspects(scenario, expected, actual):
    for aspect, rows in ROWS.items():
        if aspect == "placement_nodes" and is_sampled(scenario):
            yield aspect, compare_sampled_node(expected, actual)
        elif is_settled(scenario, aspect):
            yield aspect, compare_counts(group_by_text(rows(expected)), group_by_text(rows(actual)))
    yield "scores", compare_scores(scenario, expected, actual)
    yield "resources", compare_resources(expected, actual)
    if scenario.get("Exact"):
        yield from compare_exact(scenario, actual)


def differences(scenario, output):
    left_out = NOT_OF_1_1 if scenario["Scenario"]["Nomad"].startswith("1.1.") else ()
    found = compare_aspects(scenario, Decision(scenario, scenario["Output"]), Decision(scenario, output))
    return {aspect: what for aspect, what in found if what and aspect not in left_out}
