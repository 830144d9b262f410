export { extname } from "node:path";
