import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Deployment, kbSlug, tenant } from './deployment.ts'
import type { Ledger } from './ledger.ts'

const main = fileURLToPath(new URL('../../../src/main.js', import.meta.url))

/** A folder of notes that grows and changes, and `ganglion import` on it in a process beside the server. */
export class Importer {
  readonly #deployment: Deployment
  readonly #ledger: Ledger
  readonly #folder: string
  readonly #markers = new Map<string, string>()
  #child: ChildProcess | undefined

  constructor(deployment: Deployment, folder: string, ledger: Ledger) {
    this.#deployment = deployment
    this.#folder = folder
    this.#ledger = ledger
    mkdirSync(folder, { recursive: true })
  }

  /** Adds a few notes, changes one, and imports the folder. Once that has ended well, all its notes are acknowledged. */
  async run({ processes }: { processes: number } = { processes: 1 }): Promise<void> {
    const added = Array.from({ length: 3 }, () => `note-${this.#markers.size + 1}-${randomUUID().slice(0, 8)}.md`)
    const [changed] = this.#markers.keys()
    for (const name of [...added, ...(changed === undefined ? [] : [changed])]) {
      const marker = randomUUID()
      this.#markers.set(name, marker)
      writeFileSync(join(this.#folder, name), `# ${name}\n\nImported as ${marker}.\n`)
    }
    const offered = new Map(this.#markers)
    for (const { code, output } of await Promise.all(Array.from({ length: processes }, () => this.#import()))) {
      if (code === 0) for (const [name, marker] of offered) this.#ledger.imported.set(name, marker)
      else if (code !== null) this.#ledger.unexpected.push(`import ended with ${code}: ${output}`)
    }
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  #import(): Promise<{ code: number | null; output: string }> {
    const to = ['--tenant', tenant, '--kb', kbSlug, '--data', this.#deployment.dataDir, '--json']
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [main, 'import', this.#folder, ...to], { stdio: 'pipe' })
      this.#child = child
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
      child.on('error', reject)
      child.on('close', (code) => resolve({ code, output }))
    })
  }
}
