#!/usr/bin/env node
import { fillNode20 } from "../src/testing/fill-node-20.ts";
import { runCommand } from "./run-command.ts";

fillNode20();
await runCommand(process.argv.slice(2));
