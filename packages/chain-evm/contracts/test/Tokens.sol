// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// @notice Answers `symbol()` and `decimals()` with bytes given at the start: any answer a foreign token may give.
contract OddToken {
    bytes private symbolAnswer;
    bytes private decimalsAnswer;

    constructor(bytes memory symbolAnswer_, bytes memory decimalsAnswer_) {
        symbolAnswer = symbolAnswer_;
        decimalsAnswer = decimalsAnswer_;
    }

    fallback(bytes calldata) external returns (bytes memory) {
        return msg.sig == 0x95d89b41 ? symbolAnswer : decimalsAnswer;
    }
}

/// @notice Rejects every call with a reason of any length, the letter a again and again.
contract TalkativeToken {
    uint256 private immutable length;

    constructor(uint256 length_) {
        length = length_;
    }

    fallback() external {
        uint256 size = length;
        assembly {
            mstore(0, shl(224, 0x08c379a0))
            mstore(4, 32)
            mstore(36, size)
            for { let at := 68 } lt(at, add(68, size)) { at := add(at, 32) } {
                mstore(at, 0x6161616161616161616161616161616161616161616161616161616161616161)
            }
            revert(0, add(68, and(add(size, 31), not(31))))
        }
    }
}
