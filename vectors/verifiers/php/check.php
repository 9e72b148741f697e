<?php
// Runs verify.php over the vectors: php vectors/verifiers/check.php vectors/signature.json
require __DIR__ . '/verify.php';

$cases = json_decode(file_get_contents($argv[1]), true);
$wrong = 0;
foreach ($cases as $case) {
    $body = base64_decode($case['body']);
    try {
        $verdict = verify($case['secrets'], $case['header'], $body, $case['nowMs'], $case['toleranceSeconds']);
    } catch (Rejected $rejection) {
        $verdict = $rejection->getMessage();
    }
    if ($verdict === ($case['expect'] === 'ok' ? $case['secretIndex'] : $case['expect'])) continue;
    $wrong++;
    echo "{$case['name']}: $verdict\n";
}
foreach ([[''], ['whsec_a', ' '], ["whsec_a\n"]] as $unusable) {
    try {
        verify($unusable, null, '', 0);
        $wrong++;
        echo "unusable secrets are accepted\n";
    } catch (ValueError) {
    }
}
echo count($cases), " cases, $wrong wrong\n";
exit($wrong > 0 || $cases === [] ? 1 : 0);
