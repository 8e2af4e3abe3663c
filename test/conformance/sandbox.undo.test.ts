import { conformance } from "../../providers/sandbox/conformance.ts";
import { describeKept } from "./kept.ts";
import { sandbox } from "./sandbox.double.ts";

describeKept("the way back of each step", sandbox, conformance, (row) => row.endsWith(" undo"));
