import { ExtractPool } from '../chat/extract/extract-pool.ts'
import { DiffPool } from '../compare/diff-pool.ts'
import { ParserPool } from '../markdown/parse/parser-pool.ts'
import { RenderPool } from '../markdown/render/render-pool.ts'
import { SearchPool } from '../search/search-pool.ts'

/**
 * Threads for work on hostile text, and for search. Each starts when it is needed. They are shared by all data directories of the
 * process.
 */
export class Threads {
  readonly parser = new ParserPool()
  readonly renderer = new RenderPool()
  readonly diffs = new DiffPool()
  readonly extracts = new ExtractPool()
  readonly search = new SearchPool()

  async close(): Promise<void> {
    await this.parser.close()
    await this.renderer.close()
    await this.diffs.close()
    await this.extracts.close()
    await this.search.close()
  }
}
