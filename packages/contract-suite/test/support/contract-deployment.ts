import { z } from 'zod'
import { ganglionJson, serve } from '../../../../test/cli/support.ts'
import { runContract } from '../../src/contract.ts'

const Key = z.object({ token: z.string() })
export type ContractKeys = { CONTRACT_KEY: string; CONTRACT_CURATOR_KEY: string; CONTRACT_OTHER_KEY: string }

/** Makes a knowledge base to test, and keys of its tenant and of another, in the variables that the suite reads. */
export async function newContractKeys(
  dataDir: string,
  kb = 'handbook',
  env: Record<string, string> = {},
): Promise<ContractKeys> {
  const make = async (...args: string[]) => (await ganglionJson([...args, '--data', dataDir], env)).json
  await make('kb', 'create', kb, '--tenant', 'acme')
  await make('kb', 'create', 'elsewhere', '--tenant', 'other')
  const keyOf = async (tenant: string, role: string) =>
    Key.parse(await make('key', 'create', '--tenant', tenant, '--role', role)).token
  return {
    CONTRACT_KEY: await keyOf('acme', 'app'),
    CONTRACT_CURATOR_KEY: await keyOf('acme', 'curator'),
    CONTRACT_OTHER_KEY: await keyOf('other', 'app'),
  }
}

const unlimited = {
  GANGLION_RATE_READS: '1000000',
  GANGLION_RATE_WRITES: '1000000',
  GANGLION_RATE_CHATS: '1000000',
}

/** Starts a real server, without a limit of requests, and returns its address. */
export async function startContractServer(dataDir: string, env: Record<string, string> = {}): Promise<string> {
  return z.string().parse((await serve(dataDir, { ...unlimited, ...env })).line.url)
}

/** Runs the command line of the suite. */
export async function contract(
  args: string[],
  env: Partial<ContractKeys> = {},
): Promise<{ code: number; stdout: string }> {
  let stdout = ''
  const code = await runContract(args, env, (text) => {
    stdout += text
  })
  return { code, stdout }
}
