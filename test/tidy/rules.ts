import { honestDependencies } from "./dependencies.ts";
import { floors, libraryHomes, openImports, providersApart } from "./floors.ts";
import { dataOnly, fixedTop, noDrawers, shortFiles } from "./layout.ts";
import { pureFloors } from "./purity.ts";
import type { Rule } from "./source.ts";
import { agentsDecideNothing, noCircles, noDeadFiles } from "./ways.ts";
import { noSecrets, noVerdictFlag, plainWords, selfContained } from "./words.ts";

/** The laws of the house. Each is a function of the files alone, so that each can be shown red on a planted file. */
export const RULES: readonly Rule[] = [
  floors,
  providersApart,
  libraryHomes,
  openImports,
  noCircles,
  agentsDecideNothing,
  noDeadFiles,
  pureFloors,
  fixedTop,
  shortFiles,
  noDrawers,
  dataOnly,
  plainWords,
  noVerdictFlag,
  selfContained,
  noSecrets,
  honestDependencies,
];
