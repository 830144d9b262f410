import type { ContractSource } from "../../src/contracts/bind/tool-source.ts";
import type { RegisteredContract } from "../../src/contracts/catalog/registered.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

type Contracts = readonly RegisteredContract[];

/** Where the laboratory's tools come from, as a service that a test may break. */
export const toolService = {
  /** How often anybody asked. */
  asked: 0,
  /** How a question is answered: the first one is 1. */
  answer: (contracts: Contracts, _question: number): Promise<Contracts> =>
    Promise.resolve(contracts),
  /** Counts from zero, and answers like this from now on. */
  change(answer: (contracts: Contracts, question: number) => Promise<Contracts>): void {
    toolService.asked = 0;
    toolService.answer = answer;
  },
  mend: (): void => toolService.change((contracts) => Promise.resolve(contracts)),
};
beforeEachFile(() => toolService.mend());

export function labSource(contracts: Contracts): ContractSource {
  return { load: () => toolService.answer(contracts, ++toolService.asked) };
}
