import { expect, test } from "vitest";
import type { ApprovalRecord } from "../../../src/protocol/approval/record.ts";
import { PATTERN_DEFAULTS } from "../../../src/protocol/approval/requirement.ts";
import { takeVote } from "../../../src/protocol/approval/count-people.ts";
import type { ActorId } from "../../../src/protocol/identity/ids.ts";

test("two votes under one id in other letters are one", () => {
  const requirements = [{ ...PATTERN_DEFAULTS.dual_control, roles: [] }];
  const requester = "user:ann" as ActorId;
  const asked = {
    requester,
    actorId: requester,
    requirements,
    status: "pending",
    votes: [],
  } as Partial<ApprovalRecord>;
  const voted = ["user:bob", "user:BOB"].reduce(
    (record, id) =>
      takeVote(record, { approverId: id as ActorId, roles: [], decision: "approve", atMs: 1 }),
    asked as ApprovalRecord,
  );
  expect([voted.status, voted.votes.length]).toEqual(["pending", 1]);
});
