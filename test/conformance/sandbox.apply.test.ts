import { conformance } from "../../providers/sandbox/conformance.ts";
import { describeKept } from "./kept.ts";
import { sandbox } from "./sandbox.double.ts";

describeKept("each step", sandbox, conformance, (row) => !row.endsWith(" undo"));
