import * as v from "valibot";

/** A column whose text is JSON. Rows with another text are a bug, and throw. */
export const jsonText = <Value extends v.GenericSchema>(value: Value) =>
  v.pipe(
    v.string(),
    v.transform((text): unknown => JSON.parse(text)),
    value,
  );
