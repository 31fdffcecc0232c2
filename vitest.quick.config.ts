import { availableParallelism } from 'node:os'
import { defineConfig, mergeConfig } from 'vitest/config'
import shared from './vitest.shared.ts'

/** Tests for the inner loop: rules and parsers that take values and return values, and one way through each door. */
export default mergeConfig(
  shared,
  defineConfig({
    test: {
      include: [
        'test/{compare,rules,models}/**/*.test.ts',
        'test/chat/{answer-shape,asked,counting,extract-answerer,fallback-answerer,model-answerer,question-*}.test.ts',
        'test/markdown/{*,{file,links,merge}/*}.test.ts',
        'test/search/{highlight,index/offsets,query/query,text/{analyser,sentences}}.test.ts',
        'test/console/{islands,layout}/**/*.test.ts',
        // The doors: the API, MCP, git, the console, the command line. Every answer of the API is checked against its description.
        'test/e2e/reading.test.ts',
        'test/http/response/errors.test.ts',
        'test/http/mcp/mcp-transport.test.ts',
        'test/git/repository.test.ts',
        'test/e2e/git/git-tips.test.ts',
        'test/console/session/sign-in.test.ts',
        'test/cli/commands/kb.test.ts',
      ],
      // What tries thousands of texts, or a thread's limits.
      exclude: [
        'test/chat/{answer-filter,extract-pool}.test.ts',
        'test/compare/diff-pool.test.ts',
        'test/console/islands/upload-run.test.ts',
        'test/markdown/{chunks,yaml,file/neuron-file,{links/links,file/rewrite-links}}.test.ts',
      ],
      maxWorkers: Math.max(2, availableParallelism()),
    },
  }),
)
