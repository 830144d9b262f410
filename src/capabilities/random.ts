/** Chance. Contract: `fraction` is uniform in [0, 1). */
export interface Random {
  fraction(): number;
}
