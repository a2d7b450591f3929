// Parses the files named on standard input with remark, as often as each later line says, and prints the nanoseconds.
// Run by the benches of deckle-doc: node remark.mjs FOLDER, where FOLDER holds the installed packages.
import fs from 'node:fs'
import path from 'node:path'
import readline from 'node:readline'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(path.join(path.resolve(process.argv[2]), 'package.json'))
const load = async (name) => (await import(pathToFileURL(require.resolve(name)).href)).default
const { unified } = await import(pathToFileURL(require.resolve('unified')).href)
const processor = unified()
  .use(await load('remark-parse'))
  .use(await load('remark-gfm'))
  .use(await load('remark-frontmatter'), ['yaml', 'toml'])
  .use(await load('remark-directive'))
processor.freeze()

const texts = []
let reading = true
for await (const line of readline.createInterface({ input: process.stdin })) {
  if (reading) {
    if (line) texts.push(fs.readFileSync(line, 'utf8'))
    else reading = false
    continue
  }
  const start = process.hrtime.bigint()
  for (let round = 0; round < Number(line); round++) for (const text of texts) processor.parse(text)
  console.log(String(process.hrtime.bigint() - start))
}
