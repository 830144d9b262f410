/** Names what a worker was defined with, for the commands that build and check a deployment. */
export const DEPLOYMENT_OPTIONS: unique symbol = Symbol.for("interlock-edge.deployment-options");
