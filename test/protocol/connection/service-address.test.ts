import { expect, test } from "vitest";
import { parseServiceAddress } from "../../../src/protocol/connection/service-address.ts";

const development = { allowsLoopback: true };

test.each([
  "http://127.0.0.1:8000/v1",
  "http://localhost:8000/v1",
  "https://[::1]/v1",
  "https://llm.example.com/v1",
])("in development a provider may be at %s", (address) => {
  expect(parseServiceAddress(address, development)).toBe(address);
});

test.each([
  "http://llm.example.com/v1",
  "http://10.0.0.8/v1",
  "http://localhost.evil.example/v1",
  "http://user:pass@localhost/v1",
  "ftp://localhost/v1",
])("in development a provider is not at %s", (address) => {
  expect(parseServiceAddress(address, development)).toBeUndefined();
});
