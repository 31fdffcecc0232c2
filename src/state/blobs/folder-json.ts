import { randomUUID } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Values as JSON, by name, each whole or not there. What is damaged is not there either. */
export interface KeptJson {
  find(name: string): Promise<unknown>
  has(name: string): Promise<boolean>
  remove(name: string): Promise<void>
  names(): Promise<string[]>
  /** `flush`: it survives a power cut. */
  keep(name: string, value: unknown, options: { flush: boolean }): Promise<void>
}

/** Values as files of a folder of this process's own. */
export class FolderJson implements KeptJson {
  readonly #directory: string
  readonly #incoming: string

  /** @param incoming on the same file system, for files that are not whole yet. */
  constructor(directory: string, incoming: string) {
    this.#directory = directory
    this.#incoming = incoming
  }

  async find(name: string): Promise<unknown> {
    try {
      return JSON.parse(await readFile(join(this.#directory, name), 'utf8'))
    } catch {
      return undefined
    }
  }

  async has(name: string): Promise<boolean> {
    return (await this.find(name)) !== undefined
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#directory, name), { force: true })
  }

  names(): Promise<string[]> {
    return readdir(this.#directory)
  }

  async keep(name: string, value: unknown, { flush }: { flush: boolean }): Promise<void> {
    const temporary = join(this.#incoming, randomUUID())
    try {
      await writeFile(temporary, JSON.stringify(value), { flush })
      await rename(temporary, join(this.#directory, name))
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }
}
