import { appendFileSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { relative } from 'node:path';
import process from 'node:process';

/**
 * A reporter of jest that appends a line of JSON for each suite to the file `SUITE_REPORT`: how it ended, how long it took, and, if
 * coverage is collected, which lines of the library it ran. Jest itself only tells the coverage of all suites together.
 */
export default class SuiteReporter {
  /** By path: suites share the compiled files. */
  #places = new Map();

  constructor({ rootDir }) {
    this.rootDir = rootDir;
  }

  onTestResult(_test, result) {
    const failed = result.testResults.find(({ status }) => status === 'failed');
    const hasPassed = !failed && !result.testExecError;
    const report = {
      suite: relative(this.rootDir, result.testFilePath),
      hasPassed,
      problem: hasPassed ? undefined : (failed?.fullName ?? 'the suite does not run'),
      seconds: (result.perfStats.end - result.perfStats.start) / 1000,
      covered: result.v8Coverage && this.#covered(result.v8Coverage),
    };
    appendFileSync(process.env.SUITE_REPORT, `${JSON.stringify(report)}\n`);
  }

  /** Lines of each file, counted from 1. */
  #covered(coverage) {
    const covered = {};
    for (const { result, codeTransformResult } of coverage) {
      const file = relative(this.rootDir, result.url.replace(/^file:\/\//, ''));
      if (!file.startsWith('lib/') || !codeTransformResult?.sourceMapPath) continue;
      const places = this.#placesOf(file, codeTransformResult);
      const counts = new Array(places.length).fill(0);
      // Inner ranges come after the ones around them.
      for (const { startOffset, endOffset, count } of result.functions.flatMap(({ ranges }) => ranges)) {
        for (const [i, { offset }] of places.entries())
          if (offset >= startOffset && offset < endOffset) counts[i] = count;
      }
      const run = new Set(places.filter((_, i) => counts[i] > 0).map(({ original }) => original));
      if (run.size > 0) covered[file] = [...run].sort((a, b) => a - b);
    }
    return covered;
  }

  /** The offset of each part of the compiled code that has a place of its own in the source, with its original line. */
  #placesOf(file, { code, sourceMapPath }) {
    const known = this.#places.get(file);
    if (known) return known;
    const map = new SourceMap(JSON.parse(readFileSync(sourceMapPath, 'utf8')));
    const places = [];
    let offset = 0;
    for (const [i, text] of code.split('\n').entries()) {
      // A line may contain several: the compiler joins lines, and puts code behind the end of a comment, which has a place, too.
      for (const { index } of text.matchAll(/[\w$]+|[^\s\w$]/g)) {
        const { originalLine, generatedLine, generatedColumn } = map.findEntry(i, index);
        if (generatedLine === i && generatedColumn === index)
          places.push({ offset: offset + index, original: originalLine + 1 });
      }
      offset += text.length + 1;
    }
    this.#places.set(file, places);
    return places;
  }
}
