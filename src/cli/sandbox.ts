/** What the sandbox commands need of the embedded tenant; joined in from above, so that no floor below knows a provider. */
export interface SandboxTenant {
  url: string;
  tokens: { read: string; ordinary: string; privileged: string; control: string };
  close(): Promise<void>;
}

export type StartSandbox = (options: {
  port?: number;
  seed?: unknown;
  stateFile?: string;
  lagMs?: number;
}) => Promise<SandboxTenant>;
export type SandboxLoader = () => Promise<{ startTenant: StartSandbox }>;
