import { Repository } from '../git/repository.ts'
import { parseKbFile } from '../markdown/file/kb-file.ts'
import type { KbSettings } from '../rules/kb-settings.ts'
import { type Context, onePer } from './context.ts'
import { bringUp } from './kb-access.ts'
import type { KbIdentity } from './kb-identity.ts'
import type { KbLabel } from './readable-kb.ts'
import { mainRef } from './refs/kb-refs.ts'

export const mainSettings = onePer((ctx: Context) => new MainSettings(ctx))

/** Reads the settings of knowledge bases without opening them, cached until main moves. */
class MainSettings {
  readonly #ctx: Pick<Context, 'cluster' | 'directory'>
  readonly #known = new Map<string, { main: string; settings: KbSettings }>()

  constructor(ctx: Pick<Context, 'cluster' | 'directory'>) {
    this.#ctx = ctx
  }

  /** Returns the label of a knowledge base in lists. An unreadable one has its slug, so that the list does not fail. */
  async label(identity: KbIdentity): Promise<KbLabel & Pick<KbSettings, 'language'>> {
    const { title, language } = (await this.read(identity).catch(() => undefined)) ?? {}
    return { slug: identity.slug, title: title ?? identity.slug, language: language ?? 'en' }
  }

  async read(identity: KbIdentity): Promise<KbSettings | undefined> {
    const { id } = identity
    await bringUp(this.#ctx, identity)
    const repository = new Repository(this.#ctx.directory.repository(id))
    try {
      const main = await repository.readRef(mainRef)
      const known = this.#known.get(id)
      if (main === undefined || known?.main === main) return known?.settings
      const blob = await repository.blobAt(main, 'kb.yaml')
      const { settings } = parseKbFile(blob === undefined ? '' : await repository.readText(blob))
      this.#known.set(id, { main, settings })
      return settings
    } finally {
      repository.close()
    }
  }
}
