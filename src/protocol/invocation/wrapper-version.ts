/**
 * The version of Interlock itself, for evidence of how a call was handled (seeds/004, AI-ENG-AB). That of a tool's
 * contract is locked, so its number says everything.
 */
export const WRAPPER_VERSION = "0.1.0";
