/** One protection taken away, and the test that has to notice. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly test: { readonly file: string; readonly name: string };
}
