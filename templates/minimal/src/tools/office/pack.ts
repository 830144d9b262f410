import { getOpeningHours } from "./get-opening-hours.ts";

export const OFFICE_TOOLS = [getOpeningHours] as const;
